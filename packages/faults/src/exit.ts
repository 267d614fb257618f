// The common exit behavior of the programs in this package.

/**
 * Runs `main` and exits with its result. Prints an error to stderr without a stack trace and exits with 2.
 */
export async function runToExit(main: () => Promise<number>): Promise<void> {
  // Guards stop the child processes when this process exits (children.ts and the harness's
  // engines/keeper.ts).
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))
  try {
    process.exitCode = await main()
  } catch (error) {
    process.stderr.write(`error: ${(error as Error).message}\n`)
    process.exitCode = 2
  }
  // An aborted scenario may still have pending work that keeps the process alive.
  setTimeout(() => process.exit(), 1_000).unref()
}
