// The filters above the list of runs.
import type { ReactNode } from 'react'
import { useEnvironment } from '../../app/environment.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { Select } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import { outcomeNames, toOutcome } from './run-words.ts'

const any = '*'
const toParameter = (value: string): string | undefined => (value === any ? undefined : value)

export function RunFilters({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const environment = useEnvironment()
  return (
    <>
      <Select
        label={t('triggers.environment')}
        isChip
        value={environment?.name ?? any}
        options={[
          { id: any, text: t('app.any') },
          ...environments.map(({ name }) => ({ id: name, text: name })),
        ]}
        onChange={(name) => list.setFilter({ env: toParameter(name) })}
      />
      <Select
        label={t('triggers.outcome')}
        isChip
        value={toOutcome(list.search['outcome']) ?? any}
        options={[
          { id: any, text: t('app.any') },
          ...outcomeNames.map((name) => ({ id: name, text: t(`triggers.outcome.${name}`) })),
        ]}
        onChange={(outcome) => list.setFilter({ outcome: toParameter(outcome) })}
      />
    </>
  )
}
