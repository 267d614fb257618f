// Applies patch operations to the e-mail addresses of a user.
import { scimBadRequest } from './scim-errors.pure.ts'
import type { Filter, PatchPath } from './scim-filter.pure.ts'
import { type Element, deriveElement, matchesElement } from './scim-match.pure.ts'
import type { PatchKind } from './scim-patch-operations.pure.ts'
import {
  type EmailPart,
  type ScimEmail,
  type ScimUser,
  findEmailReader,
  mergeEmails,
  readEmailPart,
  readEmails,
  toEmail,
} from './scim-user.pure.ts'

/** The user while operations are applied. */
export type Draft = { -readonly [Name in keyof ScimUser]: ScimUser[Name] }
type EmailEdit = (draft: Draft) => void

/** Returns the edit of an operation on `emails`; none if it names a sub-attribute that the Manager does not store. */
export function createEmailEdit(kind: PatchKind, { path, filter }: PatchPath, value: unknown): EmailEdit[] {
  if (path.sub !== null) {
    const readPart = findEmailReader(path.sub)
    return readPart === null ? [] : [createPartEdit(kind, filter, readPart(kind === 'remove' ? null : value))]
  }
  if (filter === null) return [createListEdit(kind, value)]
  return [kind === 'remove' ? createRemoval(filter) : createPartEdit(kind, filter, readEmailPart(value))]
}

function createListEdit(kind: PatchKind, value: unknown): EmailEdit {
  const emails = readEmails(value)
  if (kind === 'replace') return (draft) => void (draft.emails = emails)
  if (kind === 'add') return (draft) => void (draft.emails = addEmails(draft.emails, emails))
  if (value === undefined || value === null) return (draft) => void (draft.emails = [])
  const removed = new Set(emails.map((email) => email.value.toLowerCase()))
  return (draft) =>
    void (draft.emails = draft.emails.filter((email) => !removed.has(email.value.toLowerCase())))
}

const createRemoval =
  (filter: Filter): EmailEdit =>
  (draft) =>
    void (draft.emails = draft.emails.filter((email) => !matchesElement(filter, toElement(email))))

/**
 * Changes the addresses that the filter selects; null selects all. If it selects none, an address with the values in the
 * filter is added, as Entra ID expects for `emails[type eq "work"].value`.
 */
const createPartEdit =
  (kind: PatchKind, filter: Filter | null, part: EmailPart): EmailEdit =>
  (draft) => {
    const selected = new Set(
      draft.emails.filter((email) => filter === null || matchesElement(filter, toElement(email))),
    )
    if (selected.size > 0) draft.emails = changeEmails(draft.emails, selected, part)
    else if (kind !== 'remove' && part.value !== null)
      draft.emails = addEmails(draft.emails, [createMissing(filter, part)])
  }

function createMissing(filter: Filter | null, part: EmailPart): ScimEmail {
  const values = filter === null ? null : deriveElement(filter)
  const derived: EmailPart = {}
  for (const [name, value] of values ?? []) Object.assign(derived, findEmailReader(name)?.(value))
  const email = values === null ? null : toEmail({ ...derived, ...part })
  if (email === null)
    throw scimBadRequest(
      'noTarget',
      'the path selects no e-mail address of the user, and describes no new one',
    )
  return email
}

/** Changes the selected addresses. An address without a value is removed. Only one address stays primary. */
function changeEmails(
  emails: readonly ScimEmail[],
  selected: ReadonlySet<ScimEmail>,
  part: EmailPart,
): ScimEmail[] {
  let isPrimaryTaken = false
  const changed = emails.map((email) => {
    if (!selected.has(email)) return part.primary === true ? { ...email, primary: false } : email
    const primary = part.primary === true ? !isPrimaryTaken : (part.primary ?? email.primary)
    isPrimaryTaken ||= primary
    return toEmail({ ...email, ...part, primary })
  })
  return mergeEmails(
    [],
    changed.filter((email) => email !== null),
  )
}

/** Adds addresses. A new primary address replaces the previous one. */
function addEmails(existing: readonly ScimEmail[], added: readonly ScimEmail[]): ScimEmail[] {
  const hasPrimary = added.some(({ primary }) => primary)
  return mergeEmails(hasPrimary ? existing.map((email) => ({ ...email, primary: false })) : existing, added)
}

const toElement = ({ value, type, display, primary }: ScimEmail): Element => ({
  value: value.toLowerCase(),
  type: type?.toLowerCase() ?? null,
  display: display?.toLowerCase() ?? null,
  primary,
})
