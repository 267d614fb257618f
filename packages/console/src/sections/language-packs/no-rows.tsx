// Explains why the grid has no rows, and what to do.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { useMay } from '../../app/project.tsx'
import { Button } from '../../kit/button.tsx'
import { State } from '../../kit/state.tsx'
import { useText } from '../../texts/language.tsx'

type NoRowsProps = {
  list: ListSearch
  hasPacks: boolean
  hasKeys: boolean
  onNewKey: () => void
}

export function NoRows({ list, hasPacks, hasKeys, onNewKey }: NoRowsProps): ReactNode {
  const t = useText()
  const canChange = useMay('languagePacks.change')
  if (!hasPacks)
    return (
      <State icon="language" title={t('languagePacks.empty')}>
        {t('languagePacks.emptyHint')}
      </State>
    )
  if (!hasKeys)
    return (
      <State
        icon="language"
        title={t('languagePacks.noKeys')}
        actions={canChange && <Button onPress={onNewKey}>{t('languagePacks.newKey')}</Button>}
      >
        {t('languagePacks.noKeysHint')}
      </State>
    )
  const isComplete = list.search['show'] === 'missing' && list.search['q'] === undefined
  return (
    <State
      icon={isComplete ? 'ok' : 'search'}
      title={isComplete ? t('languagePacks.complete') : t('languagePacks.noMatch')}
      actions={
        <Button onPress={() => list.setFilter({ q: undefined, show: undefined })}>
          {t('app.clearFilters')}
        </Button>
      }
    >
      {isComplete ? t('languagePacks.completeHint') : t('languagePacks.noMatchHint')}
    </State>
  )
}
