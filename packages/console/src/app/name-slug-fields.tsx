// The fields for the name and the slug of an object. The slug of a new object follows the name until the person edits it.
import { type ReactNode, useState } from 'react'
import { TextField } from '../kit/form.tsx'
import { useText } from '../texts/language.tsx'
import { suggestSlug } from './slugs.ts'

type NameSlug = { readonly name: string; readonly slug: string }

type NameSlugFieldsProps = {
  values: NameSlug
  isNew: boolean
  nameLabel: string
  /** Replaces the default hint for the slug of a new object. */
  slugHint?: string
  onChange: (changes: Partial<NameSlug>) => void
}

export function NameSlugFields({
  values: { name, slug },
  isNew,
  nameLabel,
  slugHint,
  onChange,
}: NameSlugFieldsProps): ReactNode {
  const t = useText()
  const [isSlugEdited, setSlugEdited] = useState(!isNew)
  return (
    <>
      <TextField
        name="name"
        label={nameLabel}
        value={name}
        onChange={(text) => onChange({ name: text, ...(isSlugEdited ? {} : { slug: suggestSlug(text) }) })}
        isRequired
        hasAutoFocus
      />
      <TextField
        name="slug"
        label={t('app.slug')}
        hint={isNew ? (slugHint ?? t('app.slugHint')) : t('app.slugChangeHint')}
        value={slug}
        onChange={(text) => {
          setSlugEdited(true)
          onChange({ slug: text })
        }}
        isMono
        isRequired
      />
    </>
  )
}
