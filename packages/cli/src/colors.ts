import type { Output, Terminal } from './terminal.ts'

const codes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, magenta: 35, cyan: 36 } as const
export type Color = keyof typeof codes
export type Paint = (color: Color, text: string) => string

/**
 * Returns a function that colors text for a terminal. Without a color terminal, or with NO_COLOR, the function
 * returns the text unchanged.
 */
export function createPaint({ env }: Pick<Terminal, 'env'>, output: Output): Paint {
  const isPlain = output.isTTY !== true || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb'
  return (color, text) => (isPlain ? text : `\u001b[${codes[color]}m${text}\u001b[0m`)
}
