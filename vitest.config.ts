import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // The end-to-end tests mostly wait for a Fluentd: two files at a time fit on two cores.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**'],
          testTimeout: 20_000,
          // Some make the bundle first: two builds and a compression.
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
