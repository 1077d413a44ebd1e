interface AnyPage<Item> {
  readonly items: readonly Item[]
  readonly cursor?: string
}

/** Reads the pages of a list up to a number of items. */
export async function allPages<Item>(
  read: (cursor: string | undefined) => Promise<AnyPage<Item>>,
  max: number,
): Promise<readonly Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    items.push(...page.items)
    cursor = page.cursor
  } while (cursor !== undefined && items.length < max)
  return items
}
