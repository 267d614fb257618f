// Types of API rows, as the pages about machine users read them.
import type { MachineUserDetailResult, MachineUserListResult } from '../../generated/documents.ts'

export type MachineUserRow = MachineUserListResult['list']['nodes'][number]
export type MachineUser = MachineUserDetailResult['machineUser']

/** A Basic machine user signs in with a user name and a password instead of a token. */
export const isBasic = ({ tokenPrefix }: Pick<MachineUser, 'tokenPrefix'>): boolean => tokenPrefix === null
