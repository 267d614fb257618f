// The response to the proxy about a caller whose credential is valid.
import {
  type Access,
  type AccessRows,
  type Tenant,
  accessOfMachine,
  accessOfUser,
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

/** `rows` is null for a person nothing is known about. */
export function validationOfPerson(
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
  return answer(user, rows === null ? noAccess : accessOfUser(rows))
}

/** A machine user has no e-mail. */
export function validationOfMachine(row: MachineRow): Validation {
  const { id, name, username } = row
  const user = { id, email: '', name, username, is_machine_user: true, is_personal_token: false }
  return answer(user, accessOfMachine(row.is_own_application, row.tenants))
}

/** `tenant` is set when there is no choice. */
function answer(user: Caller, application: Access): Validation {
  const [first, second] = application.available_tenants
  return { valid: true, user, tenant: second === undefined ? (first ?? null) : null, application }
}
