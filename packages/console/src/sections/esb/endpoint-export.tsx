// Saves the listed endpoints as CSV. All of them are in the page already.
import type { ReactNode } from 'react'
import { saveCsv } from '../../app/csv.ts'
import { useProject } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useText } from '../../texts/language.tsx'
import type { EndpointRow } from './endpoint-types.ts'

const heads = [
  'id',
  'application',
  'name',
  'path',
  'target',
  'authentication',
  'input',
  'output',
  'log level',
  'enabled',
  'changed',
]

export function EndpointExport({ rows }: { rows: readonly EndpointRow[] }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const save = (): void => {
    saveCsv(`${slug}-endpoints.csv`, [
      heads,
      ...rows.map((row) => [
        row.id,
        row.application.name,
        row.name,
        row.consumeURL,
        row.url ?? '',
        row.authType,
        row.inputMessageType ?? '',
        row.outputMessageType ?? '',
        row.logLevel,
        String(row.enabled),
        row.updatedAt,
      ]),
    ])
    showToast(t('app.exported', rows.length))
  }
  return (
    <Button icon="download" onPress={save}>
      <span className="wide-text">{t('app.exportCsv')}</span>
    </Button>
  )
}
