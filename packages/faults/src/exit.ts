// How a program of this package ends.

/** Runs it to its end; its exit code is that of the process. An error is a sentence on standard error, and code 2. */
export async function runToExit(main: () => Promise<number>): Promise<void> {
  // What it has started is ended by others when this process ends (children.ts, the harness's engines/keeper.ts).
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
  try {
    process.exitCode = await main()
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`)
    process.exitCode = 2
  }
  // A row that was given up may wait for something still.
  setTimeout(() => process.exit(), 1_000).unref()
}
