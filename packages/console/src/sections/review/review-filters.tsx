// The filters of the entries. They are part of the address.
import type { ReactNode } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { SearchField, Select } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import { flags, principalTypes, recommendations, scopeTypes } from './report.ts'
import { entryStates } from './select-entries.ts'

export function ReviewFilters({ list }: { list: ListSearch }): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  return (
    <>
      <SearchField label={t('review.search')} value={text} onChange={setText} />
      <Choice
        list={list}
        name="state"
        label={t('review.decision')}
        options={entryStates.map((id) => ({ id, text: t(`review.state.${id}`) }))}
      />
      <Choice
        list={list}
        name="advice"
        label={t('review.advice')}
        options={recommendations.map((id) => ({ id, text: t(`review.advice.${id}`) }))}
      />
      <Choice
        list={list}
        name="flag"
        label={t('review.flag')}
        options={flags.map((id) => ({ id, text: t(`review.flag.${id}`) }))}
      />
      <Choice
        list={list}
        name="principal"
        label={t('review.kind')}
        options={principalTypes.map((id) => ({ id, text: t(`review.principal.${id}`) }))}
      />
      <Choice
        list={list}
        name="on"
        label={t('review.accessTo')}
        options={scopeTypes.map((id) => ({ id, text: t(`review.scope.${id}`) }))}
      />
    </>
  )
}

type ChoiceProps = {
  list: ListSearch
  /** The parameter of the address. */
  name: string
  label: string
  options: readonly { readonly id: string; readonly text: string }[]
}

function Choice({ list, name, label, options }: ChoiceProps): ReactNode {
  const t = useText()
  return (
    <Select
      label={label}
      isChip
      value={options.find(({ id }) => id === list.search[name])?.id ?? 'any'}
      options={[{ id: 'any', text: t('app.any') }, ...options]}
      onChange={(id) => list.setFilter({ [name]: id === 'any' ? undefined : id })}
    />
  )
}
