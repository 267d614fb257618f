// The search, the choice of rows, and the choice of locales.
import './pack-filters.css'
import { type ReactNode, useId } from 'react'
import type { ListSearch } from '../../app/list-search.ts'
import { useSearchText } from '../../app/use-search-text.ts'
import { DialogPopup } from '../../kit/dialog-popup.tsx'
import { Check, ChipLabel, SearchField, Select } from '../../kit/form.tsx'
import { Icon } from '../../kit/icon.tsx'
import { PopupButton, usePopup } from '../../kit/popup-button.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Pack } from './pack-types.ts'
import { maxShownPacks } from './rows.ts'

type PackFiltersProps = { list: ListSearch; packs: readonly Pack[]; shown: readonly Pack[] }

export function PackFilters({ list, packs, shown }: PackFiltersProps): ReactNode {
  const t = useText()
  const [text, setText] = useSearchText(list)
  const { search, setFilter } = list
  return (
    <>
      <SearchField label={t('languagePacks.search')} value={text} onChange={setText} />
      <Select
        label={t('languagePacks.show')}
        isChip
        value={search['show'] ?? 'all'}
        options={[
          { id: 'all', text: t('app.all') },
          { id: 'missing', text: t('languagePacks.showMissing') },
          { id: 'edited', text: t('languagePacks.showEdited') },
        ]}
        onChange={(show) => setFilter({ show: show === 'all' ? undefined : show })}
      />
      {packs.length > 1 && <LocaleChoice list={list} packs={packs} shown={shown} />}
    </>
  )
}

/** Shows or hides locales. At least one locale is shown. */
function LocaleChoice({ list, packs, shown }: PackFiltersProps): ReactNode {
  const t = useText()
  const { number, list: join } = useFormat()
  const popup = usePopup()
  const id = useId()
  const toggle = (pack: Pack, isOn: boolean): void => {
    const next = packs.filter((one) => (one === pack ? isOn : shown.includes(one)))
    if (next.length > 0) list.setFilter({ locales: next.map(({ name }) => name).join(',') })
  }
  const names = shown.slice(0, 3).map(({ name }) => name)
  return (
    <>
      <PopupButton
        popup={popup}
        kind="dialog"
        className="input select pack-locales"
        isChip
        onApproach={() => {}}
      >
        <ChipLabel label={t('languagePacks.locales')} id={id} />
        <span className="truncate">
          {shown.length > names.length
            ? t('languagePacks.localeCount', number(shown.length), number(packs.length))
            : join(names)}
        </span>
        <Icon name="chevronDown" size={12} />
      </PopupButton>
      {popup.isOpen && (
        <DialogPopup
          popup={popup}
          label={t('languagePacks.locales')}
          placement="bottom start"
          className="popover"
          dialogClassName="pack-choice"
        >
          {packs.map((pack) => (
            <Check
              key={pack.id}
              label={pack.name}
              isSelected={shown.includes(pack)}
              isDisabled={!shown.includes(pack) && shown.length >= maxShownPacks}
              onChange={(isOn) => toggle(pack, isOn)}
            />
          ))}
        </DialogPopup>
      )}
    </>
  )
}
