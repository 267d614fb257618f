// Builds the response to the proxy about a caller with a valid credential.
import {
  type Access,
  type AccessRows,
  type Tenant,
  computeMachineAccess,
  computeUserAccess,
  noAccess,
} from './access.pure.ts'

type Caller = {
  id: string
  email: string
  name: string
  username: string
  is_machine_user: boolean
  is_personal_token: boolean
}
type PersonRow = {
  user_id: string
  external_email: string
  external_name: string
  external_username: string
}
type MachineRow = {
  id: string
  name: string
  username: string
  is_own_application: boolean
  tenants: Tenant[]
}

export type Validation = { valid: true; user: Caller; tenant: Tenant | null; application: Access }

/** Returns the response for a person. `rows` is null for a person without stored rows. */
export function createPersonValidation(
  person: PersonRow,
  rows: AccessRows | null,
  isPersonalToken: boolean,
): Validation {
  const user = {
    id: person.user_id,
    email: person.external_email,
    name: person.external_name,
    username: person.external_username,
    is_machine_user: false,
    is_personal_token: isPersonalToken,
  }
  return createValidation(user, rows === null ? noAccess : computeUserAccess(rows))
}

/** Returns the response for a machine user, which has no e-mail address. */
export function createMachineValidation(row: MachineRow): Validation {
  const { id, name, username } = row
  const user = { id, email: '', name, username, is_machine_user: true, is_personal_token: false }
  return createValidation(user, computeMachineAccess(row.is_own_application, row.tenants))
}

/** Builds the response. `tenant` is set if exactly one tenant is available. */
function createValidation(user: Caller, application: Access): Validation {
  const [first, second] = application.available_tenants
  return { valid: true, user, tenant: second === undefined ? (first ?? null) : null, application }
}
