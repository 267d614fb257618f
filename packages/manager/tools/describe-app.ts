// Builds the app without serving anything, to print what it declares.
import { createApp } from '../src/app.ts'
import { loadConfig } from '../src/config.ts'
import { closeWorld, createWorld } from '../src/world.ts'

/** POLICY.md and the public schema. */
export async function describeApp(): Promise<{ policy: string; schema: string }> {
  const config = loadConfig({
    env: { SVC_ENV: 'development', SVC_DATABASE_URL: 'postgres://127.0.0.1:1/none', SVC_LOG_LEVEL: 'silent' },
  })
  const redis = {
    isUp: () => true,
    run: () => Promise.resolve(null),
    key: (name: string) => name,
    close: () => Promise.resolve(),
  }
  const world = createWorld(config, { redis })
  const app = await createApp(config, world)
  try {
    return app.describe()
  } finally {
    await app.server.close()
    await app.readiness.close()
    await closeWorld(world)
  }
}
