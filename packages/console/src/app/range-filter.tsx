// The filter by time: the past hours or days, or a range of days.
import './range-filter.css'
import { type ReactNode, useState } from 'react'
import {
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from 'react-aria-components'
import { useNow } from './now.ts'
import type { ListSearch } from './list-search.ts'
import { Button } from '../kit/button.tsx'
import { ChipLabel, Form, TextField } from '../kit/form.tsx'
import { Icon } from '../kit/icon.tsx'
import { type Format, useFormat } from '../texts/format.ts'
import { useText } from '../texts/language.tsx'
import type { Translate } from '../texts/texts.ts'
import { type TimeRange, isWholeDays, pastRanges, readTimeRange, toDay } from './time-range.ts'

const rangeIds = ['any', ...(Object.keys(pastRanges) as (keyof typeof pastRanges)[])] as const

/** Returns the text for a range. For a custom range, the text contains its days, or its times if it has no whole days. */
export function formatRange(range: TimeRange, t: Translate, { date, period }: Format): string {
  const { id, from, to } = range
  if (id !== 'custom') return t(`app.range.${id}`)
  if (from !== null && to !== null && !isWholeDays(range)) return period(from, to)
  const last = to === null ? null : new Date(Date.parse(to) - 1).toISOString()
  if (from === null) return t('app.range.until', date(last ?? ''))
  if (last === null) return t('app.range.since', date(from))
  return date(from) === date(last) ? date(from) : `${date(from)} – ${date(last)}`
}

type RangeProps = {
  list: ListSearch
  /** The range to show, if it is not the range of the address. */
  range?: TimeRange
  /** The name of the range without bounds, if the API has a default for it. */
  anyText?: string
}

export function RangeFilter({ list, range: shown, anyText }: RangeProps): ReactNode {
  const t = useText()
  const format = useFormat()
  const [isOpen, setOpen] = useState(false)
  const selected = readTimeRange(list.search, useNow())
  const range = shown ?? selected
  const getText = (id: (typeof rangeIds)[number]): string =>
    id === 'any' && anyText !== undefined ? anyText : t(`app.range.${id}`)
  const choose = (changes: Parameters<ListSearch['setFilter']>[0]): void => {
    setOpen(false)
    list.setFilter({ range: undefined, from: undefined, to: undefined, ...changes })
  }
  return (
    <DialogTrigger isOpen={isOpen} onOpenChange={setOpen}>
      <AriaButton className="input select" data-size="small" data-chip="">
        <ChipLabel label={t('app.time')} />
        <span className="truncate">
          {range.id === 'any' ? getText('any') : formatRange(range, t, format)}
        </span>
        <Icon name="chevronDown" size={12} />
      </AriaButton>
      <Popover className="popover" placement="bottom start">
        <Dialog className="range-filter" aria-label={t('app.time')}>
          <ListBox
            className="menu"
            aria-label={t('app.time')}
            autoFocus
            selectionMode="single"
            selectedKeys={[range.id]}
            onSelectionChange={(keys) => {
              const [id = range.id] = keys
              choose({ range: id === 'any' ? undefined : String(id) })
            }}
          >
            {rangeIds.map((id) => (
              <ListBoxItem key={id} id={id} textValue={getText(id)} className="menu-item">
                <Text slot="label">{getText(id)}</Text>
              </ListBoxItem>
            ))}
          </ListBox>
          <DaysForm range={range} onApply={choose} />
        </Dialog>
      </Popover>
    </DialogTrigger>
  )
}

type DaysProps = {
  range: TimeRange
  onApply: (days: { from: string | undefined; to: string | undefined }) => void
}

const toValue = (day: string): string | undefined => (day === '' ? undefined : day)

function DaysForm({ range, onApply }: DaysProps): ReactNode {
  const t = useText()
  const [from, setFrom] = useState(toDay(range.from, false))
  const [to, setTo] = useState(toDay(range.to, true))
  const isEmpty = from === '' && to === ''
  const isReversed = from !== '' && to !== '' && from > to
  const problem = isEmpty ? t('app.chooseDay') : isReversed ? t('app.reversedDays') : null
  return (
    <div className="range-days">
      <Form
        id="range-days"
        onSubmit={() => {
          if (problem === null) onApply({ from: toValue(from), to: toValue(to) })
        }}
      >
        <TextField label={t('app.fromDay')} type="date" value={from} onChange={setFrom} />
        <TextField label={t('app.toDay')} type="date" value={to} onChange={setTo} />
        <Button type="submit" disabledReason={problem}>
          {t('app.applyDays')}
        </Button>
      </Form>
    </div>
  )
}
