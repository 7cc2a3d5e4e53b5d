import { rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundle } from '../pods/bundle.ts';
import { connect } from './connect.ts';
import { loadBuiltImages, loadStockImages } from './images.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Why there is no cluster; empty where there is one. */
    noCluster: string;
    /** The path of the bundle. */
    posidle: string;
  }
}

/** Connects to a cluster, or starts it, and loads the images; ends afterwards what it started. */
export default async function setup(project: TestProject): Promise<() => void> {
  const disconnect = connect();
  const isConnected = typeof disconnect !== 'string';
  project.provide('noCluster', isConnected ? '' : disconnect);
  if (!isConnected) {
    console.log(disconnect);
    return () => undefined;
  }
  await loadStockImages();
  const posidle = bundle();
  await loadBuiltImages(posidle);
  project.provide('posidle', posidle);
  return () => {
    rmSync(dirname(posidle), { recursive: true });
    disconnect();
  };
}
