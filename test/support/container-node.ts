import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { NumberedLines } from './numbered-lines.ts';

/** A file that a container wrote to. It is held open, so that no other file gets its inode. */
export interface ContainerFile {
  readonly fd: number;
  readonly inode: string;
  /** The link that in_tail reads it by. */
  readonly path: string;
  /** Of its lines. */
  readonly ids: number[];
  isDeleted: boolean;
}

interface Container {
  readonly link: string;
  readonly dir: string;
  file: ContainerFile;
  rotations: number;
}

/** The logs of a Kubernetes node as kubelet and runtime lay them out: links to files that are renamed, and go with their Pod. */
export class ContainerNode {
  readonly links: string;
  readonly files: ContainerFile[] = [];
  readonly #lines = new NumberedLines();
  readonly #pods: string;
  readonly #living = new Map<string, Container>();

  constructor(dir: string) {
    this.links = join(dir, 'containers');
    this.#pods = join(dir, 'pods');
    mkdirSync(this.links);
  }

  start(name: string): void {
    const id = Buffer.from(name).toString('hex').padEnd(64, '0');
    const dir = join(this.#pods, `default_${name}_uid`, 'main');
    const link = join(this.links, `${name}_default_main-${id}.log`);
    mkdirSync(dir, { recursive: true });
    const file = this.#create(dir, link);
    symlinkSync(join(dir, '0.log'), link);
    this.#living.set(name, { link, dir, file, rotations: 0 });
  }

  /** So many lines to each log, or to those of these containers. */
  async write(count: number, names: Iterable<string> = this.#living.keys()): Promise<void> {
    for (const name of names) {
      const { dir, file } = this.#container(name);
      for (let line = 0; line < count; line += 1) file.ids.push(this.#lines.written + line);
      await this.#lines.append(join(dir, '0.log'), count);
    }
  }

  /** Of the renamed files only the last stays. */
  rotate(...names: readonly string[]): void {
    for (const container of names.map((name) => this.#container(name))) {
      const { dir, link, file, rotations } = container;
      rmSync(join(dir, `0.log.${rotations - 1}`), { force: true });
      for (const old of this.#of(link)) if (old !== file) old.isDeleted = true;
      renameSync(join(dir, '0.log'), join(dir, `0.log.${rotations}`));
      container.file = this.#create(dir, link);
      container.rotations += 1;
    }
  }

  /** Their Pods are deleted. */
  end(...names: readonly string[]): void {
    for (const name of names) {
      const { dir, link } = this.#container(name);
      rmSync(link);
      rmSync(dir, { recursive: true });
      for (const file of this.#of(link)) file.isDeleted = true;
      this.#living.delete(name);
    }
  }

  /** What stands at a path now. */
  at(path: string): ContainerFile | undefined {
    return [...this.#living.values()].find(({ link }) => link === path)?.file;
  }

  /** The files that stand at their paths. */
  get current(): readonly ContainerFile[] {
    return Array.from(this.#living.values(), ({ file }) => file);
  }

  close(): void {
    for (const { fd } of this.files) closeSync(fd);
  }

  #of(link: string): readonly ContainerFile[] {
    return this.files.filter(({ path }) => path === link);
  }

  #create(dir: string, path: string): ContainerFile {
    const fd = openSync(join(dir, '0.log'), 'a');
    const file = { fd, inode: String(fstatSync(fd).ino), path, ids: [], isDeleted: false };
    this.files.push(file);
    return file;
  }

  #container(name: string): Container {
    const found = this.#living.get(name);
    if (found === undefined) throw new Error(`no container ${name}`);
    return found;
  }
}

export function sizeOf({ fd }: ContainerFile): number {
  return fstatSync(fd).size;
}
