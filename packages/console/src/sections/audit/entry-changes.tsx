// The changed fields of an entry, as a difference or as JSON.
import type { ReactNode } from 'react'
import { isUuid } from '../../app/ids.ts'
import { CodeView, DiffView, type FieldChange } from '../../kit/code.tsx'
import { Section, SectionText } from '../../kit/section.tsx'
import { Segments } from '../../kit/tabs.tsx'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import { type Change, type Entry, formatValue, readChanges, toChangeObject } from './entry.ts'
import type { Names } from './use-names.ts'

/** The value that the API records in place of a secret. */
const hiddenValue = '[secret]'

/** Returns the ids in the recorded values, whose names are shown beside them. */
export const listChangedIds = (entry: Entry): readonly string[] =>
  readChanges(entry).flatMap(({ before, after }) =>
    [before, after].filter((value): value is string => typeof value === 'string' && isUuid(value)),
  )

function findNote({ before, after }: Change, names: Names, t: Translate): string | undefined {
  if (before === hiddenValue || after === hiddenValue) return t('audit.neverRecorded')
  const known = [before, after].flatMap((value) =>
    typeof value === 'string' ? (names?.get(value)?.title ?? []) : [],
  )
  return known.length === 0 ? undefined : known.join(' → ')
}

const toFieldChange = (change: Change, names: Names, t: Translate): FieldChange => ({
  field: change.field,
  before: formatValue(change.before),
  after: formatValue(change.after),
  note: findNote(change, names, t),
})

type ChangesProps = { entry: Entry; names: Names; isJson: boolean; onJson: (isJson: boolean) => void }

export function EntryChanges({ entry, names, isJson, onJson }: ChangesProps): ReactNode {
  const t = useText()
  const changes = readChanges(entry)
  return (
    <Section
      title={t('audit.changes')}
      note={t('audit.fields', changes.length)}
      action={
        changes.length > 0 && (
          <Segments
            label={t('audit.view')}
            items={[
              { id: 'diff', text: t('audit.diff') },
              { id: 'json', text: 'JSON' },
            ]}
            selected={isJson ? 'json' : 'diff'}
            onSelect={(id) => onJson(id === 'json')}
          />
        )
      }
    >
      {changes.length === 0 ? (
        <SectionText>{t('audit.noChanges')}</SectionText>
      ) : isJson ? (
        <CodeView label={t('audit.changes')} text={JSON.stringify(toChangeObject(entry), null, 2)} />
      ) : (
        <DiffView
          label={t('audit.changes')}
          changes={changes.map((change) => toFieldChange(change, names, t))}
        />
      )}
    </Section>
  )
}
