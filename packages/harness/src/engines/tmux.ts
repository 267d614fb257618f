// Runs a shell in tmux as an interactive terminal. Tests type into it and read its screen.
import { execFileSync, spawnSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { ensureTmux } from './install.ts'

const maxWaitMs = 120_000

export type Terminal = ReturnType<typeof startTerminal>

/** Opens a terminal with 100 columns in this folder. The shell inherits only PATH; `env` adds variables. */
export function startTerminal(folder: string, env: Record<string, string>) {
  const socket = `${folder}/tmux`
  const tmux = (...args: string[]): string =>
    execFileSync(ensureTmux(), ['-S', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TERM: 'xterm', LANG: 'C.UTF-8', ...env },
    })
  tmux('new-session', '-d', '-x', '100', '-y', '50', '-c', folder, 'bash --norc --noprofile')
  tmux('send-keys', "PS1='$ '", 'Enter', 'C-l')
  const screen = (): string => tmux('capture-pane', '-p', '-J').trimEnd()
  /** Waits until the screen matches the pattern and returns the first capture group, or the whole match. */
  const read = async (pattern: RegExp): Promise<string> => {
    for (const until = Date.now() + maxWaitMs; Date.now() < until; await pause(100)) {
      const found = pattern.exec(screen())
      if (found !== null) return found[1] ?? found[0]
    }
    throw new Error(`the terminal does not show ${pattern.source}:\n${screen()}`)
  }
  return {
    screen,
    read,
    /** Clears the screen and types a line. */
    type: (line: string): void =>
      void (tmux('send-keys', 'C-l'), tmux('send-keys', '-l', line), tmux('send-keys', 'Enter')),
    close: (): void => void spawnSync('tmux', ['-S', socket, 'kill-server']),
  }
}
