import type { TestApp } from './app.ts'

/** Runs one of the service's schedules once. */
export async function runSchedule({ app }: Pick<TestApp, 'app'>, name: string): Promise<void> {
  const schedule = app.schedules.find((one) => one.name === name)
  if (schedule === undefined) throw new Error(`schedule ${name} not found`)
  await schedule.run()
}
