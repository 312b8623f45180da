//! The 26 directions to a neighbour.

/// One of them.
pub struct Direction {
    /// -1, 0 or 1 along x, y and z.
    pub offset: [i8; 3],
    /// Size of the message in this direction.
    pub bytes: u64,
}

/// All directions: faces along x, y, z, downwards before upwards; edges parallel to x, y, z; corners.
pub fn all(face: [u64; 3], edge: [u64; 3], corner: u64) -> impl Iterator<Item = Direction> {
    let signs = || [-1_i8, 1].into_iter();
    let two = move || signs().flat_map(move |b| signs().map(move |a| (a, b)));
    let faces = (0..3).flat_map(move |axis| {
        signs().map(move |sign| {
            let mut offset = [0; 3];
            offset[axis] = sign;
            Direction { offset, bytes: face[axis] }
        })
    });
    let edges = (0..3).flat_map(move |axis| {
        two().map(move |(a, b)| {
            let offset = [[0, a, b], [a, 0, b], [a, b, 0]][axis];
            Direction { offset, bytes: edge[axis] }
        })
    });
    let corners = signs().flat_map(move |c| two().map(move |(a, b)| Direction { offset: [a, b, c], bytes: corner }));
    faces.chain(edges).chain(corners)
}

impl Direction {
    /// The number of the direction, 0 to 26.
    pub fn label(&self) -> u64 {
        let [x, y, z] = self.offset.map(|offset| (offset + 1) as u64);
        x + 3 * (y + 3 * z)
    }

    /// The opposite direction.
    pub fn back(&self) -> Self {
        Self { offset: self.offset.map(|offset| -offset), bytes: self.bytes }
    }

    /// Whether it is along this axis only.
    pub fn is_face(&self, axis: usize) -> bool {
        (0..3).all(|other| (self.offset[other] != 0) == (other == axis))
    }
}
