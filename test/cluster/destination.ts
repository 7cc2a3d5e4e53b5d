import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostAddress } from './connect.ts';

/** The destination, outside the Pod. out_http sends the lines here. While it is away, it cuts each connection. */
export class Destination {
  readonly lines = new Set<string>();
  readonly endpoint: string;
  isAway = false;
  readonly #server: Server;
  readonly #events = new EventEmitter();

  private constructor(server: Server) {
    this.#server = server;
    this.endpoint = `http://${hostAddress()}:${(server.address() as AddressInfo).port}/`;
    server.on('request', (request, response) => {
      this.#take(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<Destination> {
    const server = createServer();
    server.listen(0, '0.0.0.0');
    await once(server, 'listening');
    return new Destination(server);
  }

  /** Resolves when so many lines have come. */
  async reaches(count: number, within = 60_000): Promise<void> {
    const signal = AbortSignal.timeout(within);
    while (this.lines.size < count) await once(this.#events, 'lines', { signal });
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.isAway) throw new Error('away');
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    for (const record of Buffer.concat(parts).toString().split('\n')) {
      if (record !== '') this.lines.add(JSON.parse(record).message);
    }
    response.writeHead(200).end();
    this.#events.emit('lines');
  }
}
