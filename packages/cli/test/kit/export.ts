// Applies and exports documents, and creates the secret files that an export names.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import type { Ended, SvcOptions } from './svc.ts'

type Svc = (args: readonly string[], options?: SvcOptions) => Promise<Ended>

/** Returns the text of the export of a project. Throws if svc fails. */
export async function exportText(svc: Svc, slug: string): Promise<string> {
  const { code, out, err } = await svc(['export', '-p', slug])
  if (code !== 0) throw new Error(err)
  return out
}

/** Writes a document into an empty folder with files for its secrets. Returns the file of the document. */
export function writeExport(folder: string, text: string): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of listSecretFiles(parse(text))) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), 'a new secret of a partner\n')
  }
  const document = path.join(folder, 'document.yaml')
  writeFileSync(document, text)
  return document
}

/** Lists the secret files that must exist before the document can create objects. */
export function listSecretFiles(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, nested]: [string, unknown]) =>
    ['authPasswordFile', 'authTokenFile', 'passwordFile'].includes(key) && typeof nested === 'string'
      ? [nested]
      : listSecretFiles(nested),
  )
}
