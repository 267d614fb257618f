// Readers for the configuration file and for secret files. Problem messages never quote file content.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { parseDocument } from 'yaml'
import type { Setting } from './readers.ts'

/** Returns the values of the configuration file by dotted key. The map is empty if no file is configured. */
export function readConfigFile(
  file: string | undefined,
): { values: Map<string, unknown> } | { problem: string } {
  if (file === undefined || file === '') return { values: new Map() }
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return { problem: `configuration file ${file} cannot be read (${getErrorCode(error)})` }
  }
  // Report only the line and the error code: parser messages quote the file, which may contain secrets.
  const document = parseDocument(text, { logLevel: 'silent' })
  const firstError = document.errors[0] ?? document.warnings[0]
  if (firstError !== undefined)
    return {
      problem: `configuration file ${file} is not valid YAML: line ${firstError.linePos?.[0].line} (${firstError.code})`,
    }
  try {
    return { values: flattenYaml(document.toJS()) }
  } catch {
    return {
      problem: `configuration file ${file} must be a mapping of keys to values, and every alias must refer to an anchor`,
    }
  }
}

/** Flattens nested YAML to dotted keys. A list is a single value. */
function flattenYaml(node: unknown, prefix = ''): Map<string, unknown> {
  const valuesByKey = new Map<string, unknown>()
  if (node === null || node === undefined) return valuesByKey
  if (typeof node !== 'object' || Array.isArray(node)) throw new Error('the top level must be a mapping')
  for (const [key, value] of Object.entries(node as Record<string, unknown>)) {
    const path = prefix === '' ? key : `${prefix}.${key}`
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      for (const [inner, leaf] of flattenYaml(value, path)) valuesByKey.set(inner, leaf)
    else valuesByKey.set(path, value)
  }
  return valuesByKey
}

const maxSecretBytes = 65_536

/** Returns the name of the variable that points to a file with the value of a secret setting. */
export const getSecretFileVariable = (item: Pick<Setting<unknown, boolean>, 'env'>): string =>
  `${item.env}_FILE`

/** Reads a file that contains one secret, and removes the trailing newline. */
export function readSecretFile(variable: string, path: string): { value: string } | { problem: string } {
  // The problem message does not repeat the value, which may be the secret itself if an operator used the wrong
  // variable.
  if (!path.startsWith('/'))
    return { problem: `${variable} must be an absolute path such as /run/secrets/name` }
  try {
    const bytes = readBounded(path, maxSecretBytes + 1)
    if (bytes.length > maxSecretBytes)
      return { problem: `the file ${path} that ${variable} names is larger than ${maxSecretBytes} bytes` }
    return { value: bytes.toString('utf8').replace(/\r?\n$/, '') }
  } catch (error) {
    return { problem: `the file ${path} that ${variable} names cannot be read (${getErrorCode(error)})` }
  }
}

function readBounded(path: string, maxBytes: number): Buffer {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(maxBytes)
    let length = 0
    for (;;) {
      const readLength = readSync(file, bytes, length, maxBytes - length, null)
      length += readLength
      if (readLength === 0 || length === maxBytes) return bytes.subarray(0, length)
    }
  } finally {
    closeSync(file)
  }
}

const getErrorCode = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown error'
