#!/usr/bin/env node
// Entry point: runs one command line with the streams and the environment of the process.
import { enableCompileCache } from 'node:module'
import { homedir, hostname } from 'node:os'
import path from 'node:path'

// oxlint-disable-next-line node/no-process-env -- the only access to the environment of the process
const { env } = process
// Later starts load the compiled code, which takes half the time. The default folder is shared with other users, who could
// place code there. If the folder is not writable, Node compiles the code again.
const cacheFolder = (env['XDG_CACHE_HOME'] ?? '') || path.join(homedir(), '.cache')
enableCompileCache(path.join(cacheFolder, 'svc', 'code'))
// Loaded afterwards, so that the cache contains them.
const [{ Failure, exitCodes }, { run }] = await Promise.all([import('./failures.ts'), import('./run.ts')])

/** Returns the root folder if the working folder has been deleted. */
function getWorkingFolder(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

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
  env,
  home: homedir(),
  cwd: getWorkingFolder(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: controller.signal,
  hostname: hostname(),
})
