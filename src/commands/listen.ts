import { type Endpoint, type HttpServer, type Routes, startHttpServer } from '../node/network/http-server.ts';
import { UsageError } from '../tasks/usage-error.ts';

/** Answers HTTP. What keeps it from that is for the user to mend. */
export async function listen(endpoint: Endpoint, routes: Routes): Promise<HttpServer> {
  try {
    return await startHttpServer(endpoint, routes);
  } catch (error) {
    const { host, port } = endpoint;
    throw new UsageError(`--listen: cannot listen on ${host}:${port}: ${(error as Error).message}`);
  }
}
