#!/usr/bin/env node
// Entry point: runs one command line with the streams and the environment of the process.
import { homedir, hostname } from 'node:os'
import { Failure, exitCodes } from './failures.ts'
import { run } from './run.ts'

const controller = new AbortController()
for (const [signal, kind] of [
  ['SIGINT', 'interrupted'],
  ['SIGTERM', 'terminated'],
] as const)
  process.on(signal, () => {
    // A second signal exits immediately, without waiting for the current step.
    if (controller.signal.aborted) process.exit(exitCodes[kind])
    controller.abort(new Failure(kind, 'Interrupted.'))
  })
// A reader such as head may close the pipe early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(exitCodes.ok)
  throw error
})

process.exitCode = await run(process.argv.slice(2), {
  // oxlint-disable-next-line node/no-process-env -- the only access to the environment of the process
  env: process.env,
  home: homedir(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: controller.signal,
  hostname: hostname(),
})
