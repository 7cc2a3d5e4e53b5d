import { inWords } from '../node/files/in-words.ts';
import { type Endpoint, type HttpServer, type Routes, startHttpServer } from '../node/network/http-server.ts';
import { UsageError } from '../tasks/usage-error.ts';

const LOW_PORT = 'permission denied: ports below 1024 need the capability NET_BIND_SERVICE';

/** Answers HTTP. What keeps it from that is for the user to mend. */
export async function listen(endpoint: Endpoint, routes: Routes): Promise<HttpServer> {
  try {
    return await startHttpServer(endpoint, routes);
  } catch (error) {
    const { host, port } = endpoint;
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EACCES' ? LOW_PORT : inWords(error as NodeJS.ErrnoException);
    throw new UsageError(`--listen: cannot listen on ${host}:${port}: ${why}`);
  }
}
