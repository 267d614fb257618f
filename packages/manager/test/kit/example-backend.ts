// examples/backend.ts as its readers run it: a process of its own, told apart by the lines it prints.
import { spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { freePort } from '../engines/postgres.ts'

const program = new URL('../../../../examples/backend.ts', import.meta.url).pathname

export type ExampleBackend = Awaited<ReturnType<typeof startExampleBackend>>

/** Starts it; it registers by itself. */
export async function startExampleBackend(of: { managerUrl: string; applicationId: string; token: string }) {
  const port = await freePort()
  const callbackUrl = `http://127.0.0.1:${port}/callbacks`
  const tokenFile = join(tmpdir(), `example-backend-${process.pid}-${port}`)
  const writeToken = (token: string): void => writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  writeToken(of.token)
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'],
      MANAGER_URL: of.managerUrl,
      APPLICATION_ID: of.applicationId,
      MACHINE_TOKEN_FILE: tokenFile,
      CALLBACK_URL: callbackUrl,
      PORT: String(port),
      HEARTBEAT_SECONDS: '0.2',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  let seen = 0
  return {
    callbackUrl,
    writeToken,
    printed: (): string => printed,
    /** Waits for a line that was not waited for before; returns what the pattern captured. What stands before it is passed over. */
    line: async (pattern: RegExp): Promise<string> => {
      const find = (): RegExpExecArray | null => pattern.exec(printed.slice(seen))
      await expect.poll(find, { message: `a line that matches ${pattern.source}` }).not.toBeNull()
      const found = find()
      seen += (found?.index ?? 0) + (found?.[0].length ?? 0)
      return found?.[1] ?? ''
    },
    /** Ends it as a supervisor does; resolves with its exit code. */
    stop: async (): Promise<number | null> => {
      child.kill()
      const code = await ended
      rmSync(tokenFile, { force: true })
      return code
    },
  }
}
