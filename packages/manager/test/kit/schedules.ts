// Schedules of a service that runs in this process.
import type { TestApp } from './app.ts'

/** Runs one of the schedules of the service once. */
export async function runSchedule({ app }: Pick<TestApp, 'app'>, name: string): Promise<void> {
  const schedule = app.schedules.find((one) => one.name === name)
  if (schedule === undefined) throw new Error(`there is no schedule ${name}`)
  await schedule.run()
}
