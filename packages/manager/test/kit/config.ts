// Creates test configurations in temporary files, and returns the problems if a configuration is rejected.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterAll } from 'vitest'
import { settings } from '../../src/settings.ts'
import { type Config, ConfigError, loadConfig } from '../../src/config/config.ts'
import { masterKey } from '@manager/harness/callers.ts'

/** The minimal configuration that is accepted outside development. */
export const minimalEnv = {
  SVC_DATABASE_URL: 'postgres://svc:pass-word@db.example/manager',
  SVC_MASTER_KEY: masterKey,
}

export type Env = Record<string, string | undefined>

/** Returns a function that writes a file and returns its path. The folder is removed after the tests of a file. */
export function useFiles(): (name: string, content: string | Buffer) => string {
  const folder = mkdtempSync(`${tmpdir()}/manager-config-`)
  afterAll(() => rmSync(folder, { recursive: true }))
  return (name, content) => {
    const path = `${folder}/${name}`
    writeFileSync(path, content)
    return path
  }
}

export const load = (env: Env, file?: string): Config =>
  loadConfig({ env, ...(file === undefined ? {} : { file }) }, settings)

/** Returns every problem of a configuration, or an empty list if it is accepted. */
export function problemsOf(env: Env, file?: string): string[] {
  try {
    load(env, file)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}
