#!/usr/bin/env node
// The program behind `manager legacy`.

// Whoever started it is gone, killed perhaps: an import must not go on unseen. Before anything is loaded, which takes time.
process.once('disconnect', () => process.exit(1))
process.channel?.unref()

const [{ createTerminal, processSource }, { run }] = await Promise.all([
  import('@manager/manager/commands'),
  import('./command.ts'),
])
const { env } = processSource()
const { stdout, stderr } = process
const exit = (code: number): never => process.exit(code)
process.exitCode = await run(process.argv.slice(2), createTerminal({ env, stdout, stderr, exit }))
