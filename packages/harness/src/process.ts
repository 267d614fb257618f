// The service and the command line as an operator runs them.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import { processEnv, testEnv } from './test-env.ts'

const main = new URL('../../manager/src/main.ts', import.meta.url).pathname
const managerCommand = new URL('../../manager/src/commands/manager.ts', import.meta.url).pathname

export type ServiceProcess = {
  child: ChildProcess
  url: string
  healthUrl: string
  /** Everything it wrote to standard output, line by line. */
  lines: string[]
  /** Resolves with the exit code, or the signal's name, when everything it wrote has been read. */
  exit: Promise<number | string>
}

/** The environment of a child: nothing of ours but the path, so that only what is given counts. */
const childEnv = (env: Record<string, string | undefined>): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  // Stripping the types of the same files over and over would be most of the run time of short commands.
  NODE_COMPILE_CACHE: `${tmpdir()}/manager-compile-cache`,
  ...env,
})

/**
 * Starts a process on free ports and waits until it is ready. `shell` makes the line that bash runs of the one that
 * becomes the process: with a limit before it, or its output led somewhere else.
 */
export async function startProcess(
  databaseUrl: string,
  env: Record<string, string | undefined> = {},
  { program = main, shell }: { program?: string; shell?: (run: string) => string } = {},
): Promise<ServiceProcess> {
  const [command, args] =
    shell === undefined
      ? [process.execPath, [program]]
      : ['bash', ['--norc', '-c', shell(`exec '${process.execPath}' '${program}'`)]]
  const child = spawn(command, args, {
    env: childEnv({ ...testEnv(databaseUrl), ...processEnv(), SVC_PORT: '0', SVC_HEALTH_PORT: '0', ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()))
  const exit = new Promise<number | string>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'gone')),
  )
  const ready = new Promise<{ port: number; health_port: number }>((resolve, reject) => {
    let rest = ''
    child.stdout.on('data', (chunk: Buffer) => {
      const parts = (rest + chunk.toString()).split('\n')
      rest = parts.pop() ?? ''
      lines.push(...parts)
      const line = parts.find((part) => part.includes('"manager is ready"'))
      if (line !== undefined) resolve(JSON.parse(line) as { port: number; health_port: number })
    })
    void exit.then((code) => reject(new Error(`the service ended with ${code}: ${errors}`)))
  })
  const { port, health_port } = await ready
  return { child, url: `http://127.0.0.1:${port}`, healthUrl: `http://127.0.0.1:${health_port}`, lines, exit }
}

export type CommandResult = { code: number; stdout: string; stderr: string }

/** Runs one command as a process. */
export async function runManagerProcess(
  args: string[],
  env: Record<string, string | undefined>,
  program = managerCommand,
): Promise<CommandResult> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [program, ...args], {
      env: childEnv(env),
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

/** Starts the service, after this command of the shell, and waits for it to end by itself. */
export async function runToEnd(
  env: Record<string, string | undefined>,
  before = 'true',
): Promise<CommandResult> {
  try {
    const run = `${before}; exec '${process.execPath}' '${main}'`
    const { stdout, stderr } = await promisify(execFile)('bash', ['--norc', '-c', run], {
      env: childEnv(env),
      timeout: 100_000,
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}
