// The sentence of an entry. Names are isolated, so that their direction does not reorder the sentence.
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import { useProject } from '../../app/project.tsx'
import type { Target } from '../../app/search-targets.ts'
import { shortenId } from '../../kit/short-id.ts'
import { useText } from '../../texts/language.tsx'
import type { Translate } from '../../texts/texts.ts'
import type { Part } from './entry.ts'
import type { Names } from './use-names.ts'

/** Returns the words and names of a part; an id stands for an object without a known name. */
function formatPart(part: Part, names: Names, t: Translate): string {
  if ('word' in part) return t(part.word as 'audit.of')
  if (!('id' in part)) return part.text
  return names === undefined ? '…' : (names.get(part.id)?.title ?? part.text ?? shortenId(part.id))
}

export const formatSentence = (parts: readonly Part[], names: Names, t: Translate): string =>
  parts.map((part) => formatPart(part, names, t)).join(' ')

type SentenceProps = {
  parts: readonly Part[]
  names: Names
  /** The page to which the first name leads. */
  target?: Target | null
}

export function Sentence({ parts, names, target = null }: SentenceProps): ReactNode {
  const t = useText()
  const { slug } = useProject()
  // If a sentence contains no name, such as a sentence about the project, the link is on its first words.
  const linked = Math.max(
    0,
    parts.findIndex((part) => !('word' in part)),
  )
  return parts.map((part, index) => {
    const text = formatPart(part, names, t)
    const content = 'word' in part ? text : <bdi>{text}</bdi>
    return (
      // oxlint-disable-next-line react/no-array-index-key -- parts have no other identity
      <Fragment key={index}>
        {index > 0 && ' '}
        {index === linked && target !== null ? (
          <Link to={`/p/${slug}/${target.section}` as '/'} search={target.search as never}>
            {content}
          </Link>
        ) : (
          content
        )}
      </Fragment>
    )
  })
}
