import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ensureCurl } from '@manager/harness/engines/install.ts'
import { type Answer, answerOf, parseBody, printed } from './doc-page-runner.ts'

const run = promisify(execFile)

/**
 * Returns a function that runs the commands of a page with bash. Variables that a command sets are available to the
 * next command, as in a terminal.
 */
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
