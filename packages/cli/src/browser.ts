// Opens an address in the browser of the user, if there is one.
import { spawn } from 'node:child_process'
import type { Terminal } from './terminal.ts'
import { isInteractive } from './terminal.ts'

type BrowserCommand = readonly [program: string, ...args: string[]]

const isSet = (value: string | undefined): boolean => (value ?? '') !== ''

/** Returns the command that opens an address, or null if there is no screen on which a browser could appear. */
export function findBrowserCommand(
  terminal: Pick<Terminal, 'env' | 'stdin' | 'stderr'>,
  platform: NodeJS.Platform = process.platform,
): BrowserCommand | null {
  const { env } = terminal
  // Build systems set CI. Their users cannot see a browser.
  if (!isInteractive(terminal) || isSet(env['CI'])) return null
  const hasDisplay = isSet(env['DISPLAY']) || isSet(env['WAYLAND_DISPLAY'])
  const isRemote = isSet(env['SSH_CONNECTION']) || isSet(env['SSH_TTY'])
  if (isRemote && !hasDisplay) return null
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return hasDisplay ? ['xdg-open'] : null
}

/**
 * Opens the address and returns whether a program was started. The address comes from the server, so only HTTP addresses
 * are opened, and no shell interprets them.
 */
export function openBrowser(terminal: Terminal, address: string): Promise<boolean> {
  const url = URL.parse(address)
  const command = findBrowserCommand(terminal)
  if (command === null || url === null || !/^https?:$/.test(url.protocol)) return Promise.resolve(false)
  const [program, ...args] = command
  return new Promise((resolve) => {
    const child = spawn(program, [...args, url.href], {
      env: { ...terminal.env },
      detached: true,
      stdio: 'ignore',
    })
    child.once('error', () => resolve(false))
    child.once('spawn', () => {
      // svc does not wait for the browser to close.
      child.unref()
      resolve(true)
    })
  })
}
