import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ensureCurl } from '@manager/harness/engines/install.ts'
import { type Answer, answerOf, parseBody, printed } from './played-page.ts'

const run = promisify(execFile)

/** Runs the commands of a page with bash; variables that one of them sets are there for the next, as in a terminal. */
export function createShell(
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): (command: string) => Promise<Answer> {
  ensureCurl()
  let variables = ''
  return async (command) => {
    const { stdout } = await run('bash', ['-c', variables + command], { cwd, env })
    for (const assignment of command.match(/^[A-Z]+=.*$/gm) ?? []) variables += `${assignment}\n`
    if (stdout.startsWith('{')) return { status: 200, headers: {}, body: parseBody(stdout) }
    return stdout.startsWith('HTTP/') ? answerOf(stdout) : printed(stdout)
  }
}
