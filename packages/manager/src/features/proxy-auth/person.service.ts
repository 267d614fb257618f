// People the proxy has signed in itself: what they may do in an application, and which tenants they may choose from.
import type { Activity } from '../../platform/credentials/activity.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Logger } from '../../platform/log/log.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import type { UsersApi } from '../users/index.ts'
import { createAccessRead } from './access-reads.service.ts'
import { maxTenants, userColumns } from './access.pure.ts'
import { type Validation, validationOfPerson } from './answers.pure.ts'
import * as store from './proxy-auth.store.ts'
import { tooManyFailures } from './refusals.pure.ts'

export type PersonDeps = {
  database: Pick<Database, 'run'>
  activity: Pick<Activity, 'noteUser'>
  /** Malformed requests about people, by client; credentials that fail are counted elsewhere. */
  malformed: Throttle
  users: UsersApi
  log: Logger
}
export type PersonService = ReturnType<typeof createPersonService>
type Catalog = { tenants: store.CatalogTenant[]; truncated?: true }
type SignedIn = { userId: string; email: string | null; name: string | null }

/** Access of people. `client` is the caller in front of the proxy, as throttles count it. */
export function createPersonService({ database, activity, malformed, users, log }: PersonDeps) {
  const find = createAccessRead<store.UserAccess>(database, store.byUser, userColumns)
  return {
    /** Throws 429 for a client that is locked out. */
    refuseLocked: async (client: string): Promise<void> => {
      const blockedMs = await malformed.blockedMs(client)
      if (blockedMs > 0) throw tooManyFailures(blockedMs)
    },
    /** Counts a request that was refused as malformed; `cause` says what was wrong with it. */
    noteMalformed: async (client: string, cause: string): Promise<void> => {
      const wasBlocked = (await malformed.fail(client)) > 0
      if (!wasBlocked && malformed.knownBlockMs(client) > 0)
        log.warn({ client, cause }, 'client is blocked from validate-oauth-user after malformed requests')
    },

    /** The person's access; one not seen before is provisioned, and name and e-mail follow what the proxy says. */
    validate: async (
      { userId, email, name }: SignedIn,
      applicationId: string,
      client: string,
    ): Promise<Validation> => {
      malformed.succeed(client)
      activity.noteUser(userId)
      const row = await find({ key: userId, applicationId })
      const isCurrent =
        row !== null &&
        (email === null || email === row.external_email) &&
        (name === null || name === row.external_name)
      if (isCurrent) return validationOfPerson(row, row, false)
      const user = await users.provision({ subject: userId, email, name })
      const provisioned = {
        user_id: user.id,
        external_email: user.externalEmail,
        external_name: user.externalName,
        external_username: user.externalUsername,
      }
      // A person not known until now has no rows.
      return validationOfPerson(provisioned, row, false)
    },

    /** The tenants a person may choose from; unknown ids find none. */
    listTenants: async (user: string, application: string | null): Promise<Catalog> => {
      const userId = parseUuid(user)
      const applicationId = application === null ? null : parseUuid(application)
      if (userId === null || (application !== null && applicationId === null)) return { tenants: [] }
      const tenants = await store.readCatalog(database.run, userId, applicationId)
      if (tenants.length <= maxTenants) return { tenants }
      return { tenants: tenants.slice(0, maxTenants), truncated: true }
    },
  }
}
