// Seeds endpoints whose secrets are sealed with different keys, and runs the commands that change the key.
import { masterKey } from '@manager/harness/callers.ts'
import * as sealed from '@manager/harness/sealed-endpoints.ts'
import { testEnv } from '@manager/harness/test-env.ts'
import { createEncryptionRing } from '../../src/platform/secrets/keys.ts'
import { type Secrets, createSecrets, readSealingKeyId } from '../../src/platform/secrets/secrets.ts'
import { runManager } from './commands.ts'
import type { TestDatabase } from './databases.ts'

/** Returns the secrets service of a process with these keys. */
export const secretsOf = (...ids: (keyof typeof sealed.keys)[]): Secrets => {
  const configured = new Map(ids.map((id) => [String(id), Buffer.from(sealed.keys[id], 'base64')]))
  return createSecrets(createEncryptionRing(Buffer.from(masterKey, 'base64'), configured))
}

type Scene = ReturnType<Parameters<typeof sealed.sealedEndpoints>[0]> & {
  database: Pick<TestDatabase, 'url'>
}

/** Returns functions that seed sealed endpoints in the project and read them. */
export function sealedEndpoints(scene: () => Scene) {
  const endpoints = sealed.sealedEndpoints(scene)
  const manager = (encryptionKeys: string, ...args: string[]) =>
    runManager(args, { ...testEnv(scene().database.url), SVC_ENCRYPTION_KEYS: encryptionKeys })
  /** Counts the sealed secrets per key, independently of the service. */
  async function countedByKey(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const row of await endpoints.stored())
      for (const column of sealed.secretColumns) {
        const stored = row[column]
        if (stored === null) continue
        counts[readSealingKeyId(stored)] = (counts[readSealingKeyId(stored)] ?? 0) + 1
      }
    return counts
  }
  return { ...endpoints, manager, countedByKey }
}
