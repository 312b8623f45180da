//! Columns: vectors of the core that NumPy uses in place.
//!
//! A [`Column`] owns a vector and offers its memory to Python (the buffer protocol). `numpy.frombuffer` makes an array of
//! it, which keeps the column alive. So no value is copied, and the module does without bindings to the C interface of
//! NumPy, which take longer to build than the rest of its dependencies.

use std::any::Any;
use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// A value that NumPy can hold.
pub trait Element: Send + Sync + 'static {
    /// Its type in NumPy.
    const DTYPE: &'static str;
}

/// Lists the types of columns, with their names in NumPy.
macro_rules! elements {
    ($($Type:ty: $dtype:literal),+) => {
        $(impl Element for $Type {
            const DTYPE: &'static str = $dtype;
        })+
    };
}

elements! { u8: "u1", u16: "u2", u32: "u4", u64: "u8", i64: "i8", f64: "f8", bool: "?" }

/// The values of an array.
#[pyclass(frozen, module = "odonata._core")]
struct Column {
    start: *mut c_void,
    bytes: isize,
    /// Keeps the memory; nothing in Rust reads the values any more, because Python may change them.
    _values: Box<dyn Any + Send + Sync>,
}

// SAFETY: the pointer is used by the holders of a buffer only, who have the interpreter lock. The vector is `Send` and
// `Sync` itself.
unsafe impl Send for Column {}
// SAFETY: see above.
unsafe impl Sync for Column {}

#[pymethods]
impl Column {
    /// Offers the memory, which may be written to.
    ///
    /// # Safety
    /// The interpreter calls it, with a view to fill.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let (start, bytes) = (slf.get().start, slf.get().bytes);
        // SAFETY: `start` has `bytes` bytes, which stay where they are as long as the column exists; the view holds a
        // reference to it.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, bytes, 0, flags) };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(slf.py())) }
    }
}

/// The values as an array of one dimension.
pub fn into_numpy<T: Element>(py: Python<'_>, mut values: Vec<T>) -> PyResult<Bound<'_, PyAny>> {
    static FROM_BUFFER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let bytes = isize::try_from(size_of_val(values.as_slice())).map_err(|e| PyOverflowError::new_err(e.to_string()))?;
    let column = Column { start: values.as_mut_ptr().cast(), bytes, _values: Box::new(values) };
    FROM_BUFFER.import(py, "numpy", "frombuffer")?.call1((column, T::DTYPE))
}

/// The values as an array of these dimensions, the last of which varies fastest.
pub fn shaped<T: Element, const N: usize>(
    py: Python<'_>,
    values: Vec<T>,
    shape: [usize; N],
) -> PyResult<Bound<'_, PyAny>> {
    into_numpy(py, values)?.call_method1("reshape", (shape,))
}
