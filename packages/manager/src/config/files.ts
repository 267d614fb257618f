// The files that configuration comes from. What is wrong with one is said without a word of its content.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { parseDocument } from 'yaml'
import type { Setting } from './readers.ts'

/** The values of the configuration file by dotted key; none where no file is named. */
export function readConfigFile(
  file: string | undefined,
): { values: Map<string, unknown> } | { problem: string } {
  if (file === undefined || file === '') return { values: new Map() }
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return { problem: `configuration file ${file} cannot be read (${codeOf(error)})` }
  }
  // The messages of the parser quote the file, which may hold secrets.
  const document = parseDocument(text, { logLevel: 'silent' })
  const wrong = document.errors[0] ?? document.warnings[0]
  if (wrong !== undefined)
    return {
      problem: `configuration file ${file} is not valid YAML in line ${wrong.linePos?.[0].line} (${wrong.code})`,
    }
  try {
    return { values: flattenYaml(document.toJS()) }
  } catch {
    return {
      problem: `configuration file ${file} must be a mapping of keys to values, and every alias in it must lead to an anchor`,
    }
  }
}

/** Turns nested YAML into dotted keys; lists stay values. */
function flattenYaml(node: unknown, prefix = ''): Map<string, unknown> {
  const flat = new Map<string, unknown>()
  if (node === null || node === undefined) return flat
  if (typeof node !== 'object' || Array.isArray(node)) throw new Error('the top level must be a mapping')
  for (const [key, value] of Object.entries(node as Record<string, unknown>)) {
    const path = prefix === '' ? key : `${prefix}.${key}`
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      for (const [inner, leaf] of flattenYaml(value, path)) flat.set(inner, leaf)
    else flat.set(path, value)
  }
  return flat
}

const maxSecretBytes = 65_536

/** The variable that names a file with the value of a secret setting. */
export const secretFileOf = (item: Pick<Setting<unknown, boolean>, 'env'>): string => `${item.env}_FILE`

/** The content of a file that holds one secret, without the newline at its end. */
export function readSecretFile(variable: string, path: string): { value: string } | { problem: string } {
  // Not repeated: it may be the secret itself, by mistake.
  if (!path.startsWith('/'))
    return { problem: `${variable} must be an absolute path such as /run/secrets/name` }
  try {
    const bytes = readBounded(path, maxSecretBytes + 1)
    if (bytes.length > maxSecretBytes)
      return { problem: `the file ${path} that ${variable} names is larger than ${maxSecretBytes} bytes` }
    return { value: bytes.toString('utf8').replace(/\r?\n$/, '') }
  } catch (error) {
    return { problem: `the file ${path} that ${variable} names cannot be read (${codeOf(error)})` }
  }
}

function readBounded(path: string, maxBytes: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(maxBytes)
    let length = 0
    for (;;) {
      const read = readSync(file, bytes, length, maxBytes - length, null)
      length += read
      if (read === 0 || length === maxBytes) return bytes.subarray(0, length)
    }
  } finally {
    closeSync(file)
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error'
