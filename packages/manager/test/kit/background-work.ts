// Starts the background work of a service that a test has started in its own process.
import { startBackgroundWork } from '../../src/platform/jobs/start.ts'
import type { TestApp } from './app.ts'

const graceMs = 15_000

/** Plans and delivers runs and other jobs until the returned function is called. */
export function startBackground({ app }: Pick<TestApp, 'app'>): () => Promise<void> {
  const stop = startBackgroundWork(app, ['jobs'])
  return () => stop(graceMs)
}
