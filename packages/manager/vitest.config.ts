import { defineConfig } from 'vitest/config'

// A variable, because --exclude does not reach projects.
const browserTests = process.env['SKIP_BROWSER_TESTS'] === 'true' ? ['**/*.browser.test.ts'] : []

export default defineConfig({
  test: {
    name: 'manager',
    root: import.meta.dirname,
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'faults/{,mixed/}*.test.ts'],
    exclude: ['**/*.{load,nightly}.test.ts', ...browserTests],
    globalSetup: ['test/kit/global-setup.ts'],
    // Processes, so that a test file can fill a pool or end badly without touching another.
    pool: 'forks',
    maxWorkers: '100%',
    // Files of a process follow each other and share its modules: loading them anew would be most of the time. So a file
    // leaves nothing behind: no timer, no listener, no change of a global.
    isolate: false,
    restoreMocks: true,
    unstubGlobals: true,
    // Node itself loads and strips the types, as it does for the service.
    experimental: { viteModuleRunner: false },
    // Generous: they end what hangs, and must not end what a busy machine makes slow.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    // A test that was left focused must not hide the others.
    allowOnly: false,
  },
})
