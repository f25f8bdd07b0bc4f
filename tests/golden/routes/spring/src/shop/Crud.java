package shop;

import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;

public abstract class Crud<T> {
    @GetMapping("/all")
    public T all() { return null; }

    @DeleteMapping("/{id}")
    public abstract void drop(int id);
}
