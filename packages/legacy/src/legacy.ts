#!/usr/bin/env node
// Entry point of `manager legacy`.

// Exits when the parent process is gone, because an import must not continue unattended. This runs before the slow
// imports below.
process.once('disconnect', () => process.exit(1))
process.channel?.unref()

const [{ createTerminal, createProcessSource: processSource }, { run }] = await Promise.all([
  import('@manager/manager/commands'),
  import('./command.ts'),
])
const { env } = processSource()
const { stdout, stderr } = process
const exit = (code: number): never => process.exit(code)
process.exitCode = await run(process.argv.slice(2), createTerminal({ env, stdout, stderr, exit }))
