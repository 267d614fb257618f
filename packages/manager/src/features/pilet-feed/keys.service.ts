// Public keys for developers who look into a signature. A frontend trusts the keys its page was given, not these: who
// could exchange a bundle could exchange them too.
import { type EncodedJson, encodeJson } from '../../platform/cache/encoded-json.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { orNotFound } from '../../platform/errors.ts'
import { parseUuid } from '../../platform/ids.ts'
import { readPublicKeys } from './keys.store.ts'

export type ReadKeys = ReturnType<typeof createReadKeys>

/** Returns a function that reads the ring: the keys are the same for every application there is. */
export const createReadKeys =
  (database: Pick<Database, 'run'>) =>
  async (application: string): Promise<EncodedJson> => {
    const applicationId = parseUuid(application)
    const keys = applicationId === null ? null : await readPublicKeys(database.run, applicationId)
    return encodeJson(orNotFound(keys, 'application'))
  }
