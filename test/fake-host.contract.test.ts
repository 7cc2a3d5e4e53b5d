import { FakeHost } from './support/fake-host.ts';
import { describeHost, type World } from './support/host-contract.ts';

describeHost('FakeHost', async (use) => use(fakeWorld()));

function fakeWorld(): World {
  const host = new FakeHost();
  const path = (name: string) => `/world/${name}`;
  let lastPid = 1_000;
  const start = (zombie = false) => {
    lastPid += 1;
    const identity = { pid: lastPid, startTime: `start ${lastPid}` };
    host.startProcess({ ...identity, zombie });
    return identity;
  };
  return {
    host,
    self: 77,
    path,
    write: (name, text) => host.writeFile(path(name), text),
    append: (name, text) => host.appendLog(path(name), text),
    rename: (from, to) => host.rename(path(from), path(to)),
    startProcess: async () => start(),
    isRunning: async (pid) => host.processes.has(pid),
    startZombie: async () => start(true),
    requestIn: (wait, by) => {
      host.at(host.now() + wait, () => host.request(by));
    },
  };
}
