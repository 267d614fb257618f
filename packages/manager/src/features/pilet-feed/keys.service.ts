// Returns the public keys for developers who inspect a signature. A frontend must trust only the keys in its page: an
// attacker who can replace a bundle could also replace these keys.
import { type EncodedJson, encodeJson } from '../../platform/cache/encoded-json.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { readPublicKeys } from './keys.store.ts'

export type ReadKeys = ReturnType<typeof createPublicKeyReader>

/**
 * Returns a function that reads the key ring. The keys are the same for every application. An unknown
 * application returns 404.
 */
export const createPublicKeyReader =
  (database: Pick<Database, 'run'>) =>
  async (application: string): Promise<EncodedJson> => {
    const applicationId = parseUuid(application)
    const keys = applicationId === null ? null : await readPublicKeys(database.run, applicationId)
    return encodeJson(orNotFound(keys, 'application'))
  }
