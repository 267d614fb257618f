// A shell in a terminal of tmux, in which a test types keys as a person does.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { ensureTmux } from '@manager/harness/engines/install.ts'
import { expect } from 'vitest'

const program = new URL('../../src/svc.ts', import.meta.url).pathname
export const shellCommands = {
  bash: ['bash', '--noprofile', '--norc', '-i'],
  zsh: ['zsh', '-f', '-i'],
  fish: ['fish', '--no-config', '-i'],
} as const
export type ShellName = keyof typeof shellCommands

/** Starts the shell in a folder. `svc` is on its PATH. */
export function startShell(name: ShellName, folder: string, env: Readonly<Record<string, string>>) {
  const tmux = ensureTmux()
  const socket = path.join(folder, 'tmux.socket')
  const bin = path.join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(path.join(bin, 'svc'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`)
  chmodSync(path.join(bin, 'svc'), 0o755)
  const run = (...args: string[]): string =>
    execFileSync(tmux, ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' })
  const variables = Object.entries({
    ...env,
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    LANG: 'C.UTF-8',
    TERM: 'screen',
  }).map(([variable, value]) => `${variable}=${value}`)
  const command = ['env', '-i', ...variables, ...shellCommands[name]]
  run('new-session', '-d', '-x', '160', '-y', '50', '-c', folder, ...command)
  const screen = (): string => run('capture-pane', '-p', '-J')
  const type = (text: string): void => void run('send-keys', '-l', text)
  const press = (key: string): void => void run('send-keys', key)
  return {
    screen,
    press,
    type,
    /** Runs a command line, and waits until it has ended. */
    execute: async (line: string): Promise<void> => {
      const mark = `done-${Math.random().toString(36).slice(2)}`
      type(`${line}; echo ${mark.slice(0, 5)}''${mark.slice(5)}`)
      press('Enter')
      await expect.poll(screen).toContain(`\n${mark}`)
      press('C-l')
    },
    /**
     * Types a line, presses the tab key, and waits until the screen shows the text. Removes the line afterwards. Presses
     * the key again from time to time, because a completion that takes too long has no result.
     */
    complete: async (line: string, expected: string | RegExp): Promise<void> => {
      type(line)
      let nextPressMs = 0
      const isShown = (): boolean => {
        const text = screen()
        if (typeof expected === 'string' ? text.includes(expected) : expected.test(text)) return true
        if (performance.now() >= nextPressMs) {
          press('Tab')
          nextPressMs = performance.now() + 4_000
        }
        return false
      }
      await expect.poll(isShown, { message: `${line} completes to ${String(expected)}` }).toBe(true)
      press('C-u')
      press('C-l')
    },
    close: (): void => void run('kill-server'),
  }
}
