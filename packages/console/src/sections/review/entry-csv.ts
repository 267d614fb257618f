// The entries with the decisions of the review, for a spreadsheet.
import type { Entry } from './report.ts'
import { type Progress, findDraft } from './select-entries.ts'

const heads = [
  'entry_id',
  'principal_type',
  'principal_id',
  'name',
  'email',
  'scope_type',
  'scope_id',
  'scope_name',
  'project_id',
  'role',
  'enabled',
  'granted_at',
  'granted_by',
  'last_activity_at',
  'expires_at',
  'recommendation',
] as const satisfies readonly (keyof Entry)[]

export const toCsvRows = (entries: readonly Entry[], progress: Progress): string[][] => [
  [...heads, 'flags', 'decision', 'is_attested', 'comment'],
  ...entries.map((entry) => {
    const draft = findDraft(entry, progress)
    return [
      ...heads.map((head) => String(entry[head] ?? '')),
      entry.flags.join(' '),
      draft?.decision ?? '',
      String(draft !== undefined && !progress.drafts.has(entry.entry_id)),
      draft?.comment ?? '',
    ]
  }),
]
