#!/usr/bin/env node
// The program: the process as the world of one command line.
import { homedir, hostname } from 'node:os'
import { Failure, exitCodes } from './failures.ts'
import { run } from './run.ts'

const controller = new AbortController()
for (const [signal, kind] of [
  ['SIGINT', 'interrupted'],
  ['SIGTERM', 'terminated'],
] as const)
  process.on(signal, () => {
    // Who asks twice does not want to wait for what is being done.
    if (controller.signal.aborted) process.exit(exitCodes[kind])
    controller.abort(new Failure(kind, 'Interrupted.'))
  })
// A reader that has seen enough, such as head, closes the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok)
  throw error
})

process.exitCode = await run(process.argv.slice(2), {
  // oxlint-disable-next-line node/no-process-env -- the one place where the program meets its environment
  env: process.env,
  home: homedir(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: controller.signal,
  hostname: hostname(),
})
