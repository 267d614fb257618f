// This service returns the access of people whom the proxy has signed in, and the tenants they can choose.
import type { Activity } from '../../platform/credentials/activity.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Logger } from '../../platform/log/log.ts'
import { parseUuid } from '../../platform/ids.ts'
import type { Throttle } from '../../platform/throttle/throttle.ts'
import type { UsersApi } from '../users/index.ts'
import { createAccessReader } from './access-reads.service.ts'
import { maxTenants, userColumns } from './access.pure.ts'
import { type Validation, createPersonValidation } from './responses.pure.ts'
import * as store from './proxy-auth.store.ts'
import { createTooManyFailuresError } from './errors.pure.ts'

export type PersonDeps = {
  database: Pick<Database, 'run'>
  activity: Pick<Activity, 'recordUser'>
  /** Counts malformed requests per client. Failed credentials have their own throttle. */
  malformed: Throttle
  users: UsersApi
  log: Logger
}
export type PersonService = ReturnType<typeof createPersonService>
type Catalog = { tenants: store.CatalogTenant[]; truncated?: true }
type SignedInPerson = { userId: string; email: string | null; name: string | null }

/**
 * Creates the service. `client` is the network from which the caller connects to the proxy. Throttles count failures
 * per client.
 */
export function createPersonService({ database, activity, malformed, users, log }: PersonDeps) {
  const findAccess = createAccessReader<store.UserAccess>(database, store.userStatements, userColumns)
  return {
    /** Throws 429 if the client is blocked. */
    refuseLocked: async (client: string): Promise<void> => {
      const blockedMs = await malformed.getBlockedMs(client)
      if (blockedMs > 0) throw createTooManyFailuresError(blockedMs)
    },
    /** Counts a request that was rejected as malformed; `cause` is the reason for the log. */
    countMalformed: async (client: string, cause: string): Promise<void> => {
      const wasBlocked = (await malformed.fail(client)) > 0
      if (!wasBlocked && malformed.getKnownBlockMs(client) > 0)
        log.warn(
          { client, cause },
          'client blocked from validate-oauth-user after too many malformed requests',
        )
    },

    /**
     * Returns the access of the person. Creates the user on the first sign-in, and updates the stored name and e-mail
     * if they have changed, unless an identity provider manages them over SCIM. A deactivated person has no access.
     */
    validate: async (
      { userId, email, name }: SignedInPerson,
      applicationId: string,
      client: string,
    ): Promise<Validation> => {
      malformed.succeed(client)
      activity.recordUser(userId)
      const row = await findAccess({ key: userId, applicationId })
      const isCurrent =
        row !== null &&
        (row.is_provisioned ||
          !row.is_active ||
          ((email === null || email === row.external_email) && (name === null || name === row.external_name)))
      if (isCurrent) return createPersonValidation(row, row.is_active ? row : null, false)
      const user = await users.provision({ subject: userId, email, name }).catch(async (error: unknown) => {
        // The person was deactivated after the first read.
        const current = await findAccess({ key: userId, applicationId })
        if (current === null || current.is_active) throw error
        return current
      })
      if ('is_active' in user) return createPersonValidation(user, null, false)
      const provisionedRow = {
        user_id: user.id,
        external_email: user.externalEmail,
        external_name: user.externalName,
        external_username: user.externalUsername,
      }
      // A newly provisioned person has no memberships, so `row` is null.
      return createPersonValidation(provisionedRow, row, false)
    },

    /** Returns the tenants that a person can choose. The list is empty for unknown ids. */
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
