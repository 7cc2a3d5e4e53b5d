import type { TestProject } from 'vitest/node';
import build from '../support/build.ts';
import { connect } from './connect.ts';
import { loadBuiltImages, loadStockImages } from './images.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Why there is no cluster; empty where there is one. */
    noCluster: string;
  }
}

/** Connects to a cluster, or starts it, and loads the images; ends afterwards what it started. */
export default async function setup(project: TestProject): Promise<() => void> {
  const disconnect = await connect();
  const isConnected = typeof disconnect !== 'string';
  project.provide('noCluster', isConnected ? '' : disconnect);
  if (!isConnected) return () => undefined;
  // The images hold it, and vitest runs this beside its other set-up.
  build();
  await loadStockImages();
  await loadBuiltImages();
  return disconnect;
}
