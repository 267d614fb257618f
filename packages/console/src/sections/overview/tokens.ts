// Credentials to renew: personal tokens that expire soon, and machine tokens that are old.
import { useRead } from '../../api/requests.ts'
import { useEnvironment } from '../../app/environment.tsx'
import { type CurrentEnvironment, useCan, useProject } from '../../app/project.tsx'
import {
  type OverviewTokensResult,
  overviewTokensDocument,
  shellMeDocument,
} from '../../generated/documents.ts'

export type TokenItem = {
  readonly id: string
  readonly name: string
  readonly prefix: string
  /**
   * With `expiresAt`, the credential is a personal token. Otherwise, it belongs to a machine user and has the time of
   * its last rotation.
   */
  readonly expiresAt: string | null
  readonly rotatedAt: string | null
  readonly environment: Pick<CurrentEnvironment, 'name' | 'protected'> | null
  readonly isOwn: boolean
}
export type Tokens = {
  readonly items: readonly TokenItem[] | null
  readonly expiring: number
  readonly old: number
  readonly error: Error | null
  readonly retry: () => void
}

export function useTokens(): Tokens {
  const { id } = useProject()
  const environment = useEnvironment()
  const hasMachineUsers = useCan('MACHINE_USER_READ')
  const me = useRead(shellMeDocument, {}).data?.me.id
  const { data, error, refetch } = useRead(overviewTokensDocument, { projectId: id, hasMachineUsers })
  const result: Partial<OverviewTokensResult> = data ?? {}
  const personal = result.expiringAccessTokensConnection
  const machines = result.machineUsersToRotateConnection
  const machineItems = (machines?.nodes ?? []).filter(
    (machine) => environment === null || machine.environment.id === environment.id,
  )
  return {
    items:
      personal === undefined
        ? null
        : [
            ...personal.nodes.map(({ id: key, name, tokenPrefix, expiresAt, user }) => ({
              id: key,
              name,
              prefix: `pat_${tokenPrefix}`,
              expiresAt,
              rotatedAt: null,
              environment: null,
              isOwn: user.id === me,
            })),
            ...machineItems.map((machine) => ({
              id: machine.id,
              name: machine.name,
              prefix: machine.username,
              expiresAt: null,
              rotatedAt: machine.lastRotatedAt ?? machine.createdAt,
              environment: machine.environment,
              isOwn: false,
            })),
          ],
    expiring: personal?.totalCount ?? 0,
    old: environment === null ? (machines?.totalCount ?? 0) : machineItems.length,
    error,
    retry: () => void refetch(),
  }
}
