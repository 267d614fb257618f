import type { Config } from './config/config.ts'
import { assertSchemaFits } from './platform/postgres/migrate.ts'
import { withOperatorErrors } from './platform/postgres/operator-errors.ts'
import { assertOwnStatements } from './platform/postgres/poolers.ts'
import { type RetiredKeys, loadRetiredKeys } from './platform/master-key/retired-keys.ts'
import { createEncryptionRing } from './platform/secrets/keys.ts'
import { assertMasterKey } from './platform/secrets/master-key.ts'
import { createSecrets } from './platform/secrets/secrets.ts'
import type { World } from './world.ts'

/** Returns the retired keys; throws unless the service can use the database with this schema and this master key. */
export const openDatabase = (config: Config, world: World): Promise<RetiredKeys> =>
  withOperatorErrors(config.databaseUrl, async () => {
    const { pools, db } = world.database
    await assertOwnStatements(pools.jobs)
    await assertSchemaFits(pools.requests)
    await syncClock(world)
    await assertMasterKey(db, config.masterKey)
    return loadRetiredKeys(
      db.read,
      createSecrets(createEncryptionRing(config.masterKey, config.encryptionKeys)),
    )
  })

const maxSkewMs = 5_000

/** Every stored date comes from the database clock. A machine clock that differs by more than 5 s is logged. */
async function syncClock({ database, log }: World): Promise<void> {
  await database.clock.sync()
  const skewMs = Math.round(database.clock.getSkewMs())
  if (Math.abs(skewMs) > maxSkewMs)
    log.warn(
      { skew_ms: skewMs },
      'the machine clock differs from the database clock; the service uses the database clock',
    )
}
